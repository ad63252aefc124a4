"""Tools for AI agents (Model Context Protocol). A tool is a view without HTTP: it authorises, parses, makes one domain
call and answers. The SDK takes half a second to load, so only `server`, `stdio`, `http` and `__main__` import it, and
only those who serve import them."""
