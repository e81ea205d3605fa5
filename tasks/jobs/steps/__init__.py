"""Work folder and outputs of the steps of a job."""
