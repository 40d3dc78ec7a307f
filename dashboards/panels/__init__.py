"""All panels, one subject a module; boards and the report take them from here."""
