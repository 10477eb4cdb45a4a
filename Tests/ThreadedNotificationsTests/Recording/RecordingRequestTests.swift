import Testing

@testable import ThreadedNotifications

/// The file that a process is asked to record to.
@Suite("Recording requests")
struct RecordingRequestTests {
    private func path(_ variable: String?, isPrivileged: Bool = false, copiedFrom: String? = nil) -> String? {
        RecordingRequest.path(
            variable: variable, runsWithOthersRights: isPrivileged, copiedFrom: copiedFrom, process: 4711)
    }

    @Test("the variable names the file, and an empty variable names none")
    func variable() {
        #expect(path("run.jsonl") == "run.jsonl")
        #expect(path("") == nil)
        #expect(path(nil) == nil)
    }

    @Test("a process with rights that its user does not have ignores the variable")
    func privileged() {
        #expect(path("run.jsonl", isPrivileged: true) == nil)
    }

    @Test("a child of fork records to a file of its own, independent of the variable")
    func copy() {
        #expect(path("other", copiedFrom: "/tmp/run.jsonl") == "/tmp/run.jsonl.4711")
        #expect(path("other", isPrivileged: true, copiedFrom: "/tmp/run.jsonl") == "/tmp/run.jsonl.4711")
    }
}
