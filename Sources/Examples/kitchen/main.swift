// Waiters post orders, the cook handles them on his thread, the main thread serves; and something is wrong.
import Foundation
import ThreadedNotifications

let center = ThreadedNotificationCenter()
let cook = RunLoopThread(name: "cook")
let waiters = [RunLoopThread(name: "anna"), RunLoopThread(name: "ben")]
for thread in [cook] + waiters { try thread.start() }

let cooking = center.addObserver(forName: .orderPlaced, on: cook) { order in
    usleep(2_000)
    center.post(name: .dishReady, object: order.object)
}
let bell = center.addObserver(forName: Notification.Name("DishRedy"), on: .main) { _ in print("ding") }
var served = 0
let serving = center.addObserver(forName: .dishReady, on: .current) { _ in
    usleep(served == 3 ? 40_000 : 1_000)
    served += 1
}

for (number, waiter) in waiters.enumerated() {
    try waiter.perform { for table in 1...3 { center.post(name: .orderPlaced, object: 10 * number + table) } }
}
MainRunLoop.run { served == 6 }
for thread in waiters + [cook] {
    thread.stop()
    try thread.waitUntilFinished(timeout: .seconds(5))
}
print("served \(served) dishes, and the bell did not ring")

extension Notification.Name {
    static let orderPlaced = Notification.Name("OrderPlaced")
    static let dishReady = Notification.Name("DishReady")
}
