import NotificationCompatibility

let testNotification = Notification.Name("TestNotification")

/// Where the samples print; a test reads it.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var text: [String] = []

    func write(_ line: String) {
        lock.lock()
        defer { lock.unlock() }
        text.append(line)
    }

    var lines: [String] {
        lock.lock()
        defer { lock.unlock() }
        return text
    }
}

/// Listing 1: a notification is handled on the thread that posts it.
final class PostingThreadViewController: NSObject, Sendable {
    let log = Log()

    func viewDidLoad(posted: DispatchSemaphore) -> any NSObjectProtocol {
        log.write("registered on the main thread: \(Thread.isMainThread)")
        let token = NotificationCenter.default.addObserver(
            forName: testNotification, object: nil, queue: nil
        ) { [unowned self] notification in
            handleNotification(notification)
        }
        DispatchQueue.global(qos: .default).async {
            NotificationCenter.default.post(name: testNotification, object: nil, userInfo: nil)
            posted.signal()
        }
        return token
    }

    private func handleNotification(_ notification: Notification) {
        log.write("handled on the main thread: \(Thread.isMainThread)")
        log.write("test notification")
    }
}

/// Listing 2: a notification of a global queue is redirected to the main thread.
final class RedirectingViewController: NSObject, NSMachPortDelegate, @unchecked Sendable {
    let log = Log()
    private var notifications: [Notification] = []  // the queue of notifications
    private var notificationThread: Thread!  // the correct thread
    private var notificationLock: NSLock!  // prevents conflicts between threads
    private var notificationPort: NSMachPort!  // signals the correct thread
    private var token: (any NSObjectProtocol)?

    func viewDidLoad() {
        log.write("registered on the main thread: \(Thread.isMainThread)")
        notificationLock = NSLock()
        notificationThread = Thread.current
        notificationPort = NSMachPort()
        notificationPort.setDelegate(self)
        RunLoop.current.add(notificationPort, forMode: .common)
        token = NotificationCenter.default.addObserver(
            forName: testNotification, object: nil, queue: nil
        ) { [unowned self] in
            processNotification($0)
        }
        DispatchQueue.global(qos: .default).async {
            NotificationCenter.default.post(name: testNotification, object: nil, userInfo: nil)
        }
    }

    func handleMachMessage(_ msg: UnsafeMutableRawPointer) {
        notificationLock.lock()
        while !notifications.isEmpty {
            let notification = notifications.removeFirst()
            notificationLock.unlock()
            processNotification(notification)
            notificationLock.lock()
        }
        notificationLock.unlock()
    }

    private func processNotification(_ notification: Notification) {
        if Thread.current != notificationThread {
            notificationLock.lock()
            notifications.append(notification)
            notificationLock.unlock()
            notificationPort.send(before: Date(), components: nil, from: nil, reserved: 0)
        } else {
            log.write("processed on the main thread: \(Thread.isMainThread)")
        }
    }

    func viewWillDisappear() {
        token.map(NotificationCenter.default.removeObserver)
        notificationPort.invalidate()
    }
}

/// Listings 3 and 4: an observer that another thread may still use while it is released. The closure holds it weakly
/// while it waits, and strongly while it runs, as the article advises.
final class Observer: NSObject, @unchecked Sendable {
    var number = 0
    private var poster: Poster?
    private var token: (any NSObjectProtocol)?

    init(handling: DispatchSemaphore, mayContinue: DispatchSemaphore, log: Log) {
        super.init()
        token = NotificationCenter.default.addObserver(
            forName: testNotification, object: nil, queue: nil
        ) { [weak self] _ in
            guard let self else { return }
            log.write("handle notification begin")
            handling.signal()
            mayContinue.wait()
            log.write("handle notification end")
            number = 10
        }
        poster = Poster()
    }

    deinit {
        token.map(NotificationCenter.default.removeObserver)
    }
}

final class Poster: NSObject, Sendable {
    override init() {
        super.init()
        Thread.detachNewThread {
            NotificationCenter.default.post(name: testNotification, object: nil)
        }
    }
}
