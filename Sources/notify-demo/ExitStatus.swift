/// The exit statuses that the help texts document.
enum ExitStatus: Int32 {
    case success = 0
    /// An expectation failed, runs differ, or something was found.
    case failed = 1
    /// An error: the command could not do its work.
    case error = 2
}
