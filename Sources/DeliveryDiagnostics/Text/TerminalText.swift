// Reports are text for terminals: whoever prints one has what it was made with.
@_exported public import TerminalText
