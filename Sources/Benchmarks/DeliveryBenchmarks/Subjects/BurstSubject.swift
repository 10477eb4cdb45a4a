/// Posts through a channel from several threads, as fast as possible.
final class BurstSubject: BenchmarkSubject {
    private let arrivals: Arrivals
    private let channel: Channel
    private let posters: PosterThreads
    private let timeout: Duration

    init(
        posters: Int, targets: Int = 1, _ conditions: BenchmarkConditions,
        through channel: (Arrivals, BenchmarkConditions) throws -> Channel
    ) throws {
        arrivals = Arrivals(targets: targets)
        self.channel = try channel(arrivals, conditions)
        do {
            self.posters = try PosterThreads(posters, core: conditions.postingCore, post: self.channel.post)
        } catch {
            try self.channel.end()
            throw error
        }
        timeout = conditions.timeout
    }

    func measure(_ operations: Int) throws -> Sample {
        arrivals.expect(operations)
        let sample = try Sample.timing(operations) {
            posters.post(operations)
            try arrivals.wait(timeout: timeout)
        }
        try posters.wait(timeout: timeout)
        try arrivals.check(operations)
        return sample
    }

    func end() throws {
        posters.end()
        try channel.end()
    }
}
