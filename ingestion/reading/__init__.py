"""Foreign files opened in processes of their own, under limits and without keys."""
