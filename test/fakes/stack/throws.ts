throw new Error('broken by design');
