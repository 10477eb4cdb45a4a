import CoreFoundation
import Foundation
import ThreadedNotifications

extension RunLoop {
    /// As the package's function. On the main thread, the pass delivers everything that waits, however long it takes:
    /// the test may be interrupted for longer than the main thread's budget.
    static func runCurrentOnce() {
        MainThread.main.drainBudget = .unbounded
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
    }
}
