import Foundation
import ThreadedNotifications

let center = ThreadedNotificationCenter.default
let name = Notification.Name("WindowWillClose")
let worker = RunLoopThread(name: "worker")
try worker.start()
let token = center.addObserver(forName: name, on: worker) { notification in
    print("\(notification.name.rawValue) is handled on \(ThreadIdentity.current)")
}
NotificationCenter.default.post(name: name, object: nil)  // on the main thread
worker.stop()  // delivers what waits, then ends
try worker.waitUntilFinished(timeout: .seconds(5))
