internal import Dispatch
internal import Foundation

/// The registrations with a Foundation center that capture what is posted there: one for each name that is observed,
/// however many observers it has.
final class FoundationCapture: Sendable {
    private struct Captured {
        var observers = 0
        var token: FoundationToken?
    }

    private let center: NotificationCenter
    private let captured: @Sendable (Notification, ObserverRegistry<Observer>.NameScope) -> Void
    /// Never locked while Foundation is called: Foundation may hold its own lock while it lets go of our tokens.
    private let names = Locked<[String?: Captured]>([:])
    /// Held while Foundation registers or removes, which calls nobody: so that whoever observes a name returns when it is captured,
    /// and a name is not captured twice.
    private let registering = NSLock()
    /// Removes what nobody observes any more. Not on the thread that removed the last observer: that may be in the middle of
    /// a Foundation center's own removal, which holds a lock while it lets go of a block that holds our token.
    private let upkeep = DispatchQueue(label: "ThreadedNotifications.FoundationCapture")

    /// - Parameter captured: called on the posting thread, for the observers of its name or for those of any name.
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

    /// An observer of this name was added. When it returns, what is posted is captured.
    func retain(_ name: String?) {
        registering.lock()
        defer { registering.unlock() }
        let isCaptured = names.withLock { names in
            names[name, default: Captured()].observers += 1
            return names[name]?.token != nil
        }
        if isCaptured { return }
        let scope: ObserverRegistry<Observer>.NameScope = name == nil ? .any : .named
        let token = FoundationToken(
            token: center.addObserver(forName: name.map { Notification.Name($0) }, object: nil, queue: nil) {
                [captured] in captured($0, scope)
            })
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
        // Once only: Foundation gives a removed token's key to the next observer.
        token?.remove(from: center)
    }

    /// How many registrations there are, after what is to be removed was.
    var count: Int {
        upkeep.sync {}
        return names.withLock { $0.count }
    }
}

// What the center gave for a registration.
//
// Safety: nothing is done with the token but to hand it back to the center, which takes it on any thread.
private struct FoundationToken: @unchecked Sendable {
    let token: any NSObjectProtocol

    func remove(from center: NotificationCenter) {
        center.removeObserver(token)
    }
}
