"""What people look at: style, tables as text, pages, the explorer."""
