internal import Glibc

/// The text for an error number in messages.
package enum SystemError {
    /// Includes a remedy if there is one for all callers.
    package static func text(_ number: Int32) -> String {
        switch number {
        case ENOSPC: "the disk is full. Make room on it"
        case EDQUOT: "the user's share of the disk is used up. Make room on it"
        case EMFILE: "this process has as many files open as it may (ulimit -n). Close some, or raise the limit"
        case ENFILE: "the system has as many files open as it may. Close some"
        default: String(cString: strerror(number))
        }
    }
}
