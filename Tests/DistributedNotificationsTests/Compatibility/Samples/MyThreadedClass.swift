import NotificationCompatibility

/// The class of "Delivering Notifications To Particular Threads", as it is written in Swift for macOS.
class MyThreadedClass: NSObject, NSMachPortDelegate, @unchecked Sendable {
    // Threaded notification support.
    var notifications: [Notification]?
    var notificationThread: Thread?
    var notificationLock: NSLock?
    var notificationPort: NSMachPort?

    let process: @Sendable (Notification) -> Void
    var token: (any NSObjectProtocol)?

    init(process: @escaping @Sendable (Notification) -> Void) {
        self.process = process
    }

    func setUpThreadingSupport() {
        if notifications != nil {
            return
        }
        notifications = []
        notificationLock = NSLock()
        notificationThread = Thread.current

        notificationPort = NSMachPort()
        notificationPort?.setDelegate(self)
        RunLoop.current.add(notificationPort!, forMode: .common)
    }

    func handleMachMessage(_ msg: UnsafeMutableRawPointer) {
        notificationLock?.lock()

        while let notification = notifications?.first {
            notifications?.removeFirst()
            notificationLock?.unlock()
            processNotification(notification)
            notificationLock?.lock()
        }

        notificationLock?.unlock()
    }

    func processNotification(_ notification: Notification) {
        if Thread.current != notificationThread {
            // Forward the notification to the correct thread.
            notificationLock?.lock()
            notifications?.append(notification)
            notificationLock?.unlock()
            notificationPort?.send(before: Date(), components: nil, from: nil, reserved: 0)
        } else {
            // Process the notification here;
            process(notification)
        }
    }

    func register() {
        setUpThreadingSupport()
        token = NotificationCenter.default.addObserver(
            forName: Notification.Name("NotificationName"), object: nil, queue: nil
        ) { notification in
            self.processNotification(notification)
        }
    }

    func unregister() {
        token.map(NotificationCenter.default.removeObserver)
        token = nil
        notificationPort?.invalidate()
    }
}
