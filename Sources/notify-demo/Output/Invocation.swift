import DeliveryDiagnostics

/// How this program was called.
enum Invocation {
    /// The name by which it was called, for commands to paste: a name in PATH, a path, or that of `Scripts/demo.sh`.
    static let name = ShellText.path(CommandLine.arguments.first ?? "notify-demo")
}
