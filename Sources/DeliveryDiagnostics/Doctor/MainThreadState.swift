internal import Foundation

/// What the main thread does, as the kernel sees it.
enum MainThreadState {
    /// Returns when the main thread sleeps; on another thread.
    static func waitUntilAsleep(limit: Duration) {
        let deadline = ContinuousClock.now + limit
        let file = "/proc/self/task/\(ProcessInfo.processInfo.processIdentifier)/stat"
        while ContinuousClock.now < deadline {
            // The state follows the name, which stands in brackets.
            let state = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: ")").last
            if state?.hasPrefix(" S ") == true { return }
        }
    }
}
