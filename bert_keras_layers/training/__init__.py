"""Training: rates, schedules and unfreezing for fine-tuning an encoder."""
