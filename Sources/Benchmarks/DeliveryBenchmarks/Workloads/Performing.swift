/// Performs blocks on another thread: the time from the first call until the last block has returned.
enum Performing {
    static let workload = Workload(
        name: "perform",
        summary: "one thread performs blocks on another",
        unit: .nanoseconds(per: "block"), control: "C queue",
        contenders: [
            Contender("C queue") { try ControlBurst(posters: 1, $0) },
            Contender("RunLoopThread.perform") { try BurstSubject(posters: 1, $0, through: Channel.performing) },
            Contender("DispatchQueue.async") { try BurstSubject(posters: 1, $0, through: Channel.dispatchQueues) },
            Contender("RunLoop.perform") { try BurstSubject(posters: 1, $0, through: Channel.runLoops) },
        ])
}
