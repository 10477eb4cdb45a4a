internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// A notification center that questions are put to. It delivers on the posting thread.
protocol CenterUnderTest: Sendable {
    /// - Parameter isWildcard: true to observe every name.
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

/// An observer that can be removed from its center.
protocol RemovableObserver: Sendable {
    func remove()
}

/// Foundation's center.
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

// Safety: the token is only passed back to the center, which accepts it on any thread.
private struct FoundationObserver: RemovableObserver, @unchecked Sendable {
    let center: NotificationCenter
    let token: any NSObjectProtocol

    func remove() { center.removeObserver(token) }
}

/// This package's center.
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
