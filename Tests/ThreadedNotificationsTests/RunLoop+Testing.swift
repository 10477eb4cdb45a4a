import CoreFoundation
import Foundation
import ThreadedNotifications

extension RunLoop {
    /// Makes one pass without waiting. On the main thread, it delivers everything that waits, however long it takes:
    /// the test may be interrupted for longer than the main thread's budget.
    static func runCurrentOnce() {
        MainThread.main.drainBudget = .unbounded
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
    }
}
