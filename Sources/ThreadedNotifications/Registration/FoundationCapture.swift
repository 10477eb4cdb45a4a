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
    private let captured: @Sendable (Notification, ObserverRegistry<Registration>.NameScope) -> Void
    private let names = Locked<[String?: Captured]>([:])
    /// Removes what nobody observes any more. Not on the thread that removed the last observer: that may be in the middle of
    /// a Foundation center's own removal, which holds a lock while it lets go of a block that holds our token.
    private let upkeep = DispatchQueue(label: "ThreadedNotifications.FoundationCapture")

    /// - Parameter captured: called on the posting thread, for the observers of its name or for those of any name.
    init(
        _ center: NotificationCenter,
        captured: @escaping @Sendable (Notification, ObserverRegistry<Registration>.NameScope) -> Void
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
        // Held while Foundation registers, which calls nobody: another observer of the name must not return before.
        names.withLock { names in
            names[name, default: Captured()].observers += 1
            guard names[name]?.token == nil else { return }
            let scope: ObserverRegistry<Registration>.NameScope = name == nil ? .any : .named
            let token = center.addObserver(
                forName: name.map { Notification.Name($0) }, object: nil, queue: nil
            ) { [captured] in captured($0, scope) }
            names[name]?.token = FoundationToken(token: token)
        }
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
        names.withLock { names in
            guard let unused = names[name], unused.observers == 0 else { return }
            names[name] = nil
            // Once only: Foundation gives a removed token's key to the next observer.
            unused.token?.remove(from: center)
        }
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
