"""The only code that runs inside Locust processes; it alone imports locust and gevent."""
