package import DeliveryRecording

@testable import DeliveryDiagnostics

extension Evidence {
    init(_ recording: Recording) { self.init(RecordingIndex(recording), DiagnosisLimits()) }

    func accounts(_ table: Accounts.Table) -> [Accounts.Account] { accounts.all.filter { $0.table == table } }

    func counts(_ table: Accounts.Table) -> [Accounts.Counts] { accounts(table).map(\.counts) }
}

extension Diagnosis {
    init(
        _ recording: Recording, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        self.init(RecordingIndex(recording), limits: limits, accepted: accepted, selection: selection)
    }
}

extension Accounts.Counts: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (Accounts.Count, Int)...) {
        self.init()
        for (count, number) in elements { self[count] = number }
    }
}
