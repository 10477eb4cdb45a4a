package import Foundation
internal import Synchronization

extension Notification {
    /// The notification as it may outlive the call that posts it: without its object, if that is being deallocated.
    /// A reference that outlives the object's `deinit` would stop the program.
    @inline(__always)
    var kept: Notification { object == nil ? self : withoutEndingObject }

    /// As `kept`, with a warning if the object is lost.
    @inline(__always)
    package func kept(at location: SourceLocation) -> Notification {
        if object == nil { return self }
        let kept = withoutEndingObject
        if kept.object == nil { warnOfLostObject(at: location) }
        return kept
    }

    @inline(never)
    private var withoutEndingObject: Notification {
        guard let object, type(of: object) is AnyClass, ObjectLife.isOver(of: object as AnyObject) else { return self }
        var kept = self
        kept.object = nil
        return kept
    }

    /// Warns on standard error, once in this process, unless `THREADED_NOTIFICATIONS_WARNINGS` is 0.
    func warnOfLostObject(at location: SourceLocation) {
        guard let object, !hasWarned.exchange(true, ordering: .relaxed) else { return }
        // Notifications that another center captures have no line.
        let place = location.line == 0 ? "" : " at \(location.file):\(location.line)"
        StandardError.warn(
            "\(name.rawValue), posted\(place), is delivered without its object, because the deinit of that "
                + "\(type(of: object)) posts it: when another thread or a later handler gets it, the object does not "
                + "exist any more. Post it before the object is released, or put what handlers need into "
                + "userInfo. THREADED_NOTIFICATIONS_WARNINGS=0 disables this warning.")
    }
}

private let hasWarned = Atomic(false)
