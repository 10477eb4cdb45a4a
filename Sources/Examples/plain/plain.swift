import Foundation

let name = Notification.Name("Saved")
let posted = DispatchSemaphore(value: 0)

let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
    print("handled on the main thread: \(Thread.isMainThread)")
}
Thread.detachNewThread {
    NotificationCenter.default.post(name: name, object: nil)
    posted.signal()
}
posted.wait()
NotificationCenter.default.removeObserver(token)
