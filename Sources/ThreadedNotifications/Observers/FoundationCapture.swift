internal import Dispatch
internal import Foundation

/// Observes a Foundation center to capture its notifications, once for each observed name.
final class FoundationCapture: Sendable {
    private struct Captured {
        var observers = 0
        var token: FoundationToken?
    }

    private let center: NotificationCenter
    private let captured: @Sendable (Notification, ObserverRegistry<Observer>.NameScope) -> Void
    /// Not locked while Foundation is called, because Foundation may hold its own lock while it releases our tokens.
    private let names = Locked<[String?: Captured]>([:])
    /// Locked while Foundation adds or removes an observer, which calls no foreign code. So `retain` returns when the
    /// name is captured, and no name is captured twice.
    private let registering = NSLock()
    /// Removes names that are no longer observed. The thread that removed the last observer cannot do that: it may run
    /// in a removal by the Foundation center, which holds a lock while it releases a block that has our token.
    private let upkeep = DispatchQueue(label: "ThreadedNotifications.FoundationCapture")

    /// - Parameter captured: called on the posting thread, once for the observers of its name and once for those of any
    ///   name.
    init(
        _ center: NotificationCenter,
        captured: @escaping @Sendable (Notification, ObserverRegistry<Observer>.NameScope) -> Void
    ) {
        self.center = center
        self.captured = captured
    }

    deinit {
        let center = center
        let tokens = names.withLock { $0.values.compactMap(\.token) }
        upkeep.async { for token in tokens { token.remove(from: center) } }
    }

    /// An observer of this name was added. When this returns, notifications are captured.
    func retain(_ name: String?) {
        registering.lock()
        defer { registering.unlock() }
        let isCaptured = names.withLock { names in
            names[name, default: Captured()].observers += 1
            return names[name]?.token != nil
        }
        if isCaptured { return }
        let scope: ObserverRegistry<Observer>.NameScope = name == nil ? .any : .named
        let token = Recorder.observingForCapture {
            FoundationToken(
                token: center.addObserver(forName: name.map { Notification.Name($0) }, object: nil, queue: nil) {
                    [captured] in captured($0, scope)
                })
        }
        names.withLock { $0[name]?.token = token }
    }

    /// An observer of this name was removed.
    func release(_ name: String?) {
        let wasLast = names.withLock { names in
            names[name]?.observers -= 1
            return names[name]?.observers == 0
        }
        if wasLast { upkeep.async { [weak self] in self?.removeIfUnused(name) } }
    }

    private func removeIfUnused(_ name: String?) {
        registering.lock()
        defer { registering.unlock() }
        let token = names.withLock { names -> FoundationToken? in
            guard let unused = names[name], unused.observers == 0 else { return nil }
            names[name] = nil
            return unused.token
        }
        // Only once, because Foundation reuses the key of a removed token.
        token?.remove(from: center)
    }

    /// The number of captured names, after pending removals.
    var count: Int {
        upkeep.sync {}
        return names.withLock { $0.count }
    }
}

// The token of a Foundation center.
//
// Safety: the token is only passed back to the center, which accepts it on any thread.
private struct FoundationToken: @unchecked Sendable {
    let token: any NSObjectProtocol

    func remove(from center: NotificationCenter) {
        Recorder.observingForCapture { center.removeObserver(token) }
    }
}
