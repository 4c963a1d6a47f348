"""Forms out of JSON Schemas: fields, what is typed in them, the value they make, its faults."""
