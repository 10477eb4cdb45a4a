import DeliveryDiagnostics
import Testing

@testable import DeliveryBenchmarks

@Suite("Benchmark noise")
struct BenchmarkNoiseTests {
    private static let steady = [100.0, 101, 99, 100, 102, 98, 100]
    private static let unsteady = [100.0, 180, 90, 170, 60, 150, 110]
    private static let quiet = ProcessorTimes(busy: 11, stolen: 0, all: 20, own: 10)

    private func findings(
        control: [Double] = steady, ours: [Double] = steady, controlName: String? = "control",
        times: ProcessorTimes? = quiet, isPinned: Bool = true
    ) -> [String] {
        BenchmarkNoise.findings(
            in: [WorkloadResultTests.result(control: controlName, figures: [("control", control), ("ours", ours)])],
            times: times, isPinned: isPinned)
    }

    @Test("a quiet machine has no findings")
    func quiet() {
        #expect(findings() == [])
        #expect(findings(times: nil) == [])
    }

    @Test("stolen time and other programs are reported with their share")
    func processors() {
        let stolen = findings(times: ProcessorTimes(busy: 10, stolen: 1, all: 20, own: 10))
        #expect(stolen == ["The machine below this one took 5 % of the processor time (steal)."])
        let others = findings(times: ProcessorTimes(busy: 15, stolen: 0, all: 20, own: 10))
        #expect(others == ["Other programs and the system took 25 % of the processor time."])
    }

    @Test("a few clock ticks are not reported")
    func short() {
        #expect(findings(times: ProcessorTimes(busy: 0.4, stolen: 0.1, all: 0.5, own: 0.1)) == [])
    }

    @Test("a baseline with a large spread is reported, and a contender with one is not")
    func spread() throws {
        let finding = try #require(findings(control: Self.unsteady).first)
        #expect(finding.hasSuffix(": burst-4 59 %."))
        #expect(findings(ours: Self.unsteady) == [])
    }

    @Test("a spread of a nanosecond is not noise, even if the baseline takes no longer")
    func shortControl() {
        #expect(findings(control: [1.4, 2.2, 0.6, 1.4, 2.4, 1.5, 1.4]) == [])
    }

    @Test("without a baseline, the median spread of the contenders is used")
    func withoutControl() {
        #expect(findings(controlName: nil) == [])
        #expect(findings(control: Self.unsteady, ours: Self.unsteady, controlName: nil).count == 1)
    }

    @Test("the finding for unpinned threads suggests to pin them")
    func pin() throws {
        #expect(try #require(findings(control: Self.unsteady, isPinned: false).first).hasSuffix("--pin."))
    }

    @Test("processor times are read as the kernel writes them")
    func parsing() throws {
        let text = "cpu  3452098 1746 720336 4226557 18454 0 4182 7569 12 0\ncpu0 1 2 3\n"
        let times = try #require(ProcessorTimes(stat: text, ticks: 100, own: 7))
        #expect(abs(times.busy - 41783.62) < 0.001)
        #expect(abs(times.stolen - 75.69) < 0.001)
        #expect(abs(times.all - 84309.42) < 0.001)
        #expect(times.own == 7)
        #expect(times.since(times) == ProcessorTimes(busy: 0, stolen: 0, all: 0, own: 0))
    }

    @Test("a text of another format has no times", arguments: ["", "cpu", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n"])
    func noTimes(text: String) {
        #expect(ProcessorTimes(stat: text, ticks: 100, own: 0) == nil)
    }

    @Test("this machine reports its times")
    func here() throws {
        let one = try #require(ProcessorTimes.now)
        let other = try #require(ProcessorTimes.now)
        #expect(other.all >= one.all && other.own >= one.own && other.own > 0)
        #expect(BenchmarkMachine.current.cores > 0)
    }

    @Test("a processor's name is the text after its heading")
    func model() {
        #expect(BenchmarkMachine.model(cpuinfo: "processor\t: 0\nmodel name\t: AMD  EPYC: 7\n") == "AMD EPYC: 7")
        #expect(BenchmarkMachine.model(cpuinfo: "processor\t: 0\n") == "unknown processor")
    }
}
