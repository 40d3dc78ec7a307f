"""The GPU collector: what a device has (`fields`), how it is read (`reader`), what is shown (`reading`)."""
