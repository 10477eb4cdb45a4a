/// Posts to another thread: the time from the first post until the last notification was handled.
enum Burst {
    static func workload(posters: Int) -> Workload {
        Workload(
            name: "burst-\(posters)",
            summary: "\(posters) thread\(posters == 1 ? " posts" : "s post") to one other thread",
            unit: .nanoseconds(per: "notification"), control: "C queue",
            contenders: [
                Contender("C queue") { try ControlBurst(posters: posters, $0) },
                Contender("ThreadedNotificationCenter") {
                    try BurstSubject(posters: posters, $0, through: Channel.ours)
                },
                Contender("RedirectingObserver") {
                    try BurstSubject(posters: posters, $0, through: Channel.redirecting)
                },
                Contender("addObserver(queue:)") {
                    try BurstSubject(posters: posters, $0, through: Channel.operationQueues)
                },
                Contender("DispatchQueue.async") {
                    try BurstSubject(posters: posters, $0, through: Channel.dispatchQueues)
                },
                Contender("RunLoop.perform") {
                    try BurstSubject(posters: posters, $0, through: Channel.runLoops)
                },
            ])
    }
}
