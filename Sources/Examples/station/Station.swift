import AsyncMain
import Foundation
import ThreadedNotifications

actor Log {
    func write(_ text: String, on thread: ThreadIdentity) { print("\(text) on \(thread)") }
}

@main @MainActor struct Station {
    static var counts: [ThreadIdentity: Int] = [:]

    static func main() async {
        let (center, measured) = (ThreadedNotificationCenter(), Notification.Name("Measured"))
        let (received, continuation) = AsyncStream.makeStream(of: Void.self)
        let token = center.addObserver(forName: measured, on: .main) { _ in
            counts[.current, default: 0] += 1
            if counts.values.reduce(0, +) == 100_000 { continuation.finish() }
        }
        DispatchQueue.main.async {
            print("the main queue is served on \(ThreadIdentity.current)")
            _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in
                print("a timer fires on \(ThreadIdentity.current)")
                for _ in 1...4 { Thread.detachNewThread { for _ in 1...25_000 { center.post(name: measured) } } }
            }
        }
        for await _ in received {}
        token.cancel()
        for (thread, count) in counts { await Log().write("\(count) notifications arrive", on: thread) }
    }
}
