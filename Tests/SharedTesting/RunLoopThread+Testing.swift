package import Dispatch
package import ThreadedNotifications

extension RunLoopThread {
    /// True on this thread.
    package var isCurrent: Bool { identity == ThreadIdentity.current }

    /// A new thread that runs.
    package static func started(_ name: String) throws(DeliveryError) -> RunLoopThread {
        let thread = RunLoopThread(name: name)
        try thread.start()
        return thread
    }

    /// Keeps the thread busy until the returned semaphore is signalled.
    package func keptBusy() throws(DeliveryError) -> DispatchSemaphore {
        let (isBusy, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try perform {
            isBusy.signal()
            resume.wait()
        }
        isBusy.wait()
        return resume
    }

    /// Stops the thread, and waits until it has performed what waits and has ended.
    package func stopAndWait() throws(DeliveryError) {
        stop()
        try waitUntilFinished(timeout: TestTimeout.hang)
    }
}
