import Testing

@testable import ThreadedNotifications

@Suite("NestedRuns")
struct NestedRunsTests {
    private var runs = NestedRuns<String>()

    @Test("a run in which nothing was posted is not signalled")
    mutating func nothing() {
        runs.begin(in: "default", isSignalled: false)
        let signal1 = runs.takeSignal()
        #expect(!signal1)
    }

    @Test("a run in which something was posted is signalled once")
    mutating func once() {
        runs.begin(in: "default", isSignalled: false)
        runs.notePost()
        runs.notePost()
        let signal2 = runs.takeSignal()
        #expect(signal2)
        let signal3 = runs.takeSignal()
        #expect(!signal3)
    }

    @Test("a nested run is not signalled for a post in the run around it", arguments: [false, true])
    mutating func nested(isSignalled: Bool) {
        runs.begin(in: "default", isSignalled: false)
        runs.notePost()
        if isSignalled { _ = runs.takeSignal() }
        runs.begin(in: "nested", isSignalled: isSignalled)
        let signal4 = runs.takeSignal()
        #expect(!signal4)
        let end = runs.end(in: "nested")
        #expect(end.wasObserved && end.mayBeNested)
        let signal5 = runs.takeSignal()
        #expect(signal5)
    }

    @Test("a post in a nested run does not make the run around it return")
    mutating func outer() {
        runs.begin(in: "default", isSignalled: false)
        runs.begin(in: "nested", isSignalled: false)
        runs.notePost()
        _ = runs.end(in: "nested")
        let signal6 = runs.takeSignal()
        #expect(!signal6)
        let end = runs.end(in: "default")
        #expect(end.wasObserved && !end.mayBeNested)
    }

    @Test("the end of a run whose beginning was not observed changes nothing")
    mutating func unobserved() {
        runs.begin(in: "default", isSignalled: false)
        runs.notePost()
        let end = runs.end(in: "other")
        #expect(!end.wasObserved && end.mayBeNested)
        let signal7 = runs.takeSignal()
        #expect(signal7)
    }
}
