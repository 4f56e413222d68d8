/** Apart from the setup: the workflow's sandbox takes no zod. */
export const bareWorkflow = 'bare';
export const bareQueue = 'bare';
/** Like a payment's: the last activity has its own queue. */
export const bareDeliveryQueue = 'bare-delivery';
/** Nobody polls it: a start there is a start and nothing else. */
export const idleQueue = 'idle';
