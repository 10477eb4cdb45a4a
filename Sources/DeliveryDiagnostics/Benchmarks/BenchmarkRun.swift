/// Measures workloads in rounds: in each round every contender has its turn.
package struct BenchmarkRun: Sendable {
    package var places: BenchmarkPlaces
    package var rounds: Int
    package var isQuick: Bool

    package init(places: BenchmarkPlaces = BenchmarkPlaces(), rounds: Int = 7, isQuick: Bool = false) {
        self.places = places
        self.rounds = rounds
        self.isQuick = isQuick
    }

    package func perform(_ workload: Workload) throws -> [ContenderResult] {
        var samples = workload.contenders.map { _ in [Sample]() }
        let subjects = try workload.contenders.map { try $0.make(places) }
        defer { for subject in subjects { try? subject.end() } }
        let operations = isQuick ? workload.quickOperations : workload.operations
        for round in 0..<rounds {
            for turn in subjects.indices {
                let place = (round + turn) % subjects.count
                samples[place].append(try subjects[place].measure(operations.lowerBound))
            }
        }
        return zip(workload.contenders, samples).map { ContenderResult(name: $0.name, samples: $1) }
    }
}
