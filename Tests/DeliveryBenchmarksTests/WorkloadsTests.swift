import DeliveryDiagnostics
import XCTest

@testable import DeliveryBenchmarks

final class WorkloadsTests: XCTestCase {
    func testWorkloadsAndTheirContendersHaveUniqueNamesAndTheBaselineIsAContender() {
        XCTAssertEqual(Set(Workloads.all.map(\.name)).count, Workloads.all.count)
        for workload in Workloads.all {
            let names = workload.contenders.map(\.name)
            XCTAssertTrue(!names.isEmpty && Set(names).count == names.count, "\(workload.name)")
            if let control = workload.control { XCTAssertTrue(names.contains(control), "\(workload.name)") }
        }
    }

    func testANameSelectsOneWorkloadAndANameWithoutItsNumberSelectsTheFamily() throws {
        for workload in Workloads.all {
            XCTAssertTrue(Workloads.named(workload.name).contains { $0.name == workload.name })
            XCTAssertTrue(Workloads.named(workload.family).contains { $0.name == workload.name })
        }
        XCTAssertEqual(Workloads.named("same-thread-1").map(\.name), ["same-thread-1"])
        XCTAssertTrue(Workloads.named("no such workload").isEmpty)
        XCTAssertEqual(Workload.drawn("names-1000000").family, "names")
        XCTAssertEqual(Workload.drawn("round-trip").family, "round-trip")
        XCTAssertEqual(Workload.drawn("odd-").family, "odd-")
        XCTAssertEqual(Workload.drawn("paced-100us").family, "paced")
    }

    func testNamesAreListedOnceAndTheirRowFitsEightyColumns() {
        XCTAssertEqual(Set(Workloads.names).count, Workloads.names.count)
        for workload in Workloads.all {
            for contender in workload.contenders {
                XCTAssertLessThanOrEqual(contender.name.count, 34, "\(contender.name)")
            }
        }
    }
}
