import Foundation
import ThreadedNotifications

struct WindowWillClose: NotificationCenter.AsyncMessage { typealias Subject = NSObject }

let center = ThreadedNotificationCenter.default
let token = center.addObserver(for: WindowWillClose.self, on: .main) { _ in
    print("the window closes on \(ThreadIdentity.current)")
    MainRunLoop.stop()
}
Thread.detachNewThread { center.post(WindowWillClose()) }
MainRunLoop.run()
