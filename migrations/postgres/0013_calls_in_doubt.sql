-- Calls in doubt are looked for at every inbox and at every look at the desk's numbers. They are few among many.
CREATE INDEX calls_in_doubt ON calls (id) WHERE state = 'in_doubt';
