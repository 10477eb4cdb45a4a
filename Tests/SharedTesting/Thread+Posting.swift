package import Foundation

extension Thread {
    /// Runs a block on several new threads.
    /// - Returns: a group that is empty when all of them have ended.
    package static func posting(_ threads: Int, _ block: @escaping @Sendable () -> Void) -> DispatchGroup {
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            Thread.detachNewThread {
                block()
                group.leave()
            }
        }
        return group
    }
}
