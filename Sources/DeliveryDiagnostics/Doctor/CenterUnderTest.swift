internal import Foundation
internal import ThreadedNotifications

/// A notification center that questions are asked of. It delivers on the posting thread.
protocol CenterUnderTest: Sendable {
    /// - Parameter isWildcard: whether it observes every name.
    func addObserver(
        object: Any?, isWildcard: Bool, _ handler: @escaping @Sendable () -> Void
    ) -> any RemovableObserver

    func post(object: Any?)
}

extension CenterUnderTest {
    func addObserver(object: Any? = nil, _ handler: @escaping @Sendable () -> Void) -> any RemovableObserver {
        addObserver(object: object, isWildcard: false, handler)
    }

    func post() { post(object: nil) }
}

/// What removes an observer from its center.
protocol RemovableObserver: Sendable {
    func remove()
}

/// Foundation's.
struct FoundationCenter: CenterUnderTest {
    let center = NotificationCenter()

    func addObserver(
        object: Any?, isWildcard: Bool, _ handler: @escaping @Sendable () -> Void
    ) -> any RemovableObserver {
        let name = isWildcard ? nil : TestNotification.foundationName
        return FoundationObserver(
            center: center,
            token: center.addObserver(forName: name, object: object, queue: nil) { _ in handler() })
    }

    func post(object: Any?) {
        center.post(name: TestNotification.foundationName, object: object)
    }
}

// Safety: nothing is done with the token but to hand it back to the center, which takes it on any thread.
private struct FoundationObserver: RemovableObserver, @unchecked Sendable {
    let center: NotificationCenter
    let token: any NSObjectProtocol

    func remove() { center.removeObserver(token) }
}

/// This package's.
struct OurCenter: CenterUnderTest {
    let center: ThreadedNotificationCenter

    init(capturing foundation: NotificationCenter? = nil) {
        center = ThreadedNotificationCenter(capturing: foundation)
    }

    func addObserver(
        object: Any?, isWildcard: Bool, _ handler: @escaping @Sendable () -> Void
    ) -> any RemovableObserver {
        let name = isWildcard ? nil : TestNotification.foundationName
        return OurObserver(
            token: center.addObserver(forName: name, object: object, on: .postingThread) { _ in handler() })
    }

    func post(object: Any?) {
        center.post(name: TestNotification.foundationName, object: object)
    }
}

private struct OurObserver: RemovableObserver {
    let token: ObserverToken

    func remove() { token.cancel() }
}
