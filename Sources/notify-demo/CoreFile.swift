import Foundation

/// What a process leaves behind that ends by a signal.
enum CoreFile {
    /// For a process whose crash is meant.
    static func forbid() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
