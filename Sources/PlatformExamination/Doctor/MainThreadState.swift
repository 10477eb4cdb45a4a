internal import Foundation

/// The state of the main thread as the kernel reports it.
enum MainThreadState {
    /// Returns when the main thread sleeps, or after `timeout`. Call this on another thread.
    static func waitUntilAsleep(timeout: Duration) {
        let deadline = ContinuousClock.now + timeout
        let file = "/proc/self/task/\(ProcessInfo.processInfo.processIdentifier)/stat"
        while ContinuousClock.now < deadline {
            // The state follows the thread's name, which is in parentheses.
            let state = (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: ")").last
            if state?.hasPrefix(" S ") == true { return }
        }
    }
}
