import DeliveryDiagnostics
import Testing

@testable import DeliveryBenchmarks

@Suite("Workloads")
struct WorkloadsTests {
    @Test("workloads and their contenders have unique names, and the baseline is a contender")
    func names() {
        #expect(Set(Workloads.all.map(\.name)).count == Workloads.all.count)
        for workload in Workloads.all {
            let names = workload.contenders.map(\.name)
            #expect(!names.isEmpty && Set(names).count == names.count, "\(workload.name)")
            if let control = workload.control { #expect(names.contains(control), "\(workload.name)") }
        }
    }

    @Test("a name selects one workload, and a name without its number selects the family")
    func named() throws {
        for workload in Workloads.all {
            #expect(Workloads.named(workload.name).contains { $0.name == workload.name })
            #expect(Workloads.named(workload.family).contains { $0.name == workload.name })
        }
        #expect(Workloads.named("same-thread-1").map(\.name) == ["same-thread-1"])
        #expect(Workloads.named("no such workload").isEmpty)
        #expect(Workload.drawn("names-1000000").family == "names")
        #expect(Workload.drawn("round-trip").family == "round-trip")
        #expect(Workload.drawn("odd-").family == "odd-")
    }

    @Test("names are listed once, and their row fits eighty columns")
    func listed() {
        #expect(Set(Workloads.names).count == Workloads.names.count)
        for workload in Workloads.all {
            for contender in workload.contenders { #expect(contender.name.count <= 34, "\(contender.name)") }
        }
    }
}
