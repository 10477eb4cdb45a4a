/// Posts to several threads: the time from the first post until all threads have handled the last notification.
enum FanOut {
    static func workload(targets: Int) -> Workload {
        Workload(
            name: "fan-out-\(targets)",
            summary: "one thread posts to \(targets) other\(targets == 1 ? "" : "s"), each handles each notification",
            unit: .nanoseconds(per: "notification"), control: "C queues",
            contenders: [
                Contender("C queues") { try ControlBurst(posters: 1, targets: targets, $0) },
                Contender("ThreadedNotificationCenter") {
                    try BurstSubject(posters: 1, targets: targets, $0, through: Channel.ours)
                },
                Contender("RedirectingObserver") {
                    try BurstSubject(posters: 1, targets: targets, $0, through: Channel.redirecting)
                },
                Contender("addObserver(queue:)") {
                    try BurstSubject(posters: 1, targets: targets, $0, through: Channel.operationQueues)
                },
                Contender("DispatchQueue.async") {
                    try BurstSubject(posters: 1, targets: targets, $0, through: Channel.dispatchQueues)
                },
                Contender("RunLoop.perform") {
                    try BurstSubject(posters: 1, targets: targets, $0, through: Channel.runLoops)
                },
            ])
    }
}
