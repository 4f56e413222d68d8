/** Apart from the setup: the workflow's sandbox takes no zod. */
export const bareWorkflow = 'bare';
/** With the engine's part of a whole payment. */
export const shapedWorkflow = 'shaped';
/** One delivery alone, with whatever priority it is started. */
export const bareDelivery = 'delivery';
export const bareQueue = 'bare';
/** Like a payment's: the last activity has its own queue. */
export const bareDeliveryQueue = 'bare-delivery';
/** Nobody polls it: a start there is a start and nothing else. */
export const idleQueue = 'idle';
