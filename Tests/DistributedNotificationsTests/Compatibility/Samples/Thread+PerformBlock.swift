import NotificationCompatibility

/// The category of "Performing a block of code on a given thread".
extension Thread {
    static func performBlockOnMainThread(_ block: @escaping @Sendable () -> Void) {
        Thread.main.performBlock(block)
    }

    static func performBlockInBackground(_ block: @escaping @Sendable () -> Void) {
        Thread.detachNewThread(block)
    }

    func performBlock(_ block: @escaping @Sendable () -> Void) {
        if Thread.current.isEqual(self) {
            block()
        } else {
            performBlock(block, waitUntilDone: false)
        }
    }

    func performBlock(_ block: @escaping @Sendable () -> Void, waitUntilDone wait: Bool) {
        perform(on: self, waitUntilDone: wait, block)
    }

    func performBlock(_ block: @escaping @Sendable () -> Void, afterDelay delay: TimeInterval) {
        nonisolated(unsafe) let thread = self
        perform(afterDelay: delay) {
            thread.performBlock(block)
        }
    }
}

/// The article's persistent connection, which only the network thread may use.
final class NetworkConnection: NSObject, @unchecked Sendable {
    private(set) var sent: [[String: String]] = []
    private(set) var usedOtherThread = false
    let networkThread: NetworkThread

    init(networkThread: NetworkThread) {
        self.networkThread = networkThread
    }

    // Before: the arguments are packed into one dictionary.
    func sendArguments(firstName: String, lastName: String, companyName: String) {
        let arguments = ["firstName": firstName, "lastName": lastName, "companyName": companyName]
        perform(on: networkThread, waitUntilDone: false) {
            self.onNetworkThreadSend(arguments)
        }
    }

    private func onNetworkThreadSend(_ arguments: [String: String]) {
        if Thread.current != networkThread { usedOtherThread = true }
        sent.append(arguments)
    }

    // After: one method call.
    func send(firstName: String, lastName: String, companyName: String) {
        networkThread.performBlock {
            // format and send data
            self.onNetworkThreadSend(["firstName": firstName, "lastName": lastName, "companyName": companyName])
        }
    }
}

/// A secondary thread as macOS programs write it: a port keeps its run loop waiting.
final class NetworkThread: Thread {
    override func main() {
        let keepAlive = NSMachPort()
        RunLoop.current.add(keepAlive, forMode: .default)
        while !isCancelled {
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
        }
        keepAlive.invalidate()
    }

    func stop() {
        perform(on: self, waitUntilDone: false) {
            Thread.current.cancel()
        }
    }
}
