import DeliveryRecording

@testable import DeliveryDiagnostics

extension Audit {
    init(_ recording: Recording) { self.init(RecordingIndex(recording)) }
}

extension Diagnosis {
    init(
        _ recording: Recording, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        self.init(RecordingIndex(recording), limits: limits, accepted: accepted, selection: selection)
    }
}

extension AuditCounters: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (AuditCount, Int)...) {
        self.init()
        for (count, number) in elements { self[count] = number }
    }
}
