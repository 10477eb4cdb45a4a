/// Posts through a channel from several threads, as fast as possible.
final class BurstSubject: BenchmarkSubject {
    private let arrivals: Arrivals
    private let channel: Channel
    private let posters: PosterThreads
    private let limit: Duration

    init(
        posters: Int, targets: Int = 1, _ places: BenchmarkPlaces,
        through channel: (Arrivals, BenchmarkPlaces) throws -> Channel
    ) throws {
        arrivals = Arrivals(targets: targets)
        self.channel = try channel(arrivals, places)
        do {
            self.posters = try PosterThreads(posters, core: places.postingCore, post: self.channel.post)
        } catch {
            try self.channel.end()
            throw error
        }
        limit = places.limit
    }

    func measure(_ operations: Int) throws -> Sample {
        arrivals.expect(operations)
        let sample = try Sample.timing(operations) {
            posters.post(operations)
            try arrivals.wait(limit: limit)
        }
        try posters.wait(limit: limit)
        try arrivals.check(operations)
        return sample
    }

    func end() throws {
        posters.end()
        try channel.end()
    }
}
