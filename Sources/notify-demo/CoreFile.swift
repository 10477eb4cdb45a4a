import Foundation

/// Core dumps of this process.
enum CoreFile {
    /// Disables core dumps. For a process that is expected to crash.
    static func disable() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
