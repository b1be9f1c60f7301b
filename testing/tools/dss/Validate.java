import eu.europa.esig.dss.diagnostic.SignatureWrapper;
import eu.europa.esig.dss.model.FileDocument;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.validation.SignedDocumentValidator;
import eu.europa.esig.dss.validation.reports.Reports;
import java.io.File;

/** Prints a line for each signature of each file: the file, whether bytes and value are good, and the indication. Nothing is fetched, and nobody trusted. */
public class Validate {
  public static void main(String[] paths) {
    for (String path : paths) {
      try {
        validate(path);
      } catch (RuntimeException error) {
        System.out.println(String.join("\t", path, "unread", error.getClass().getSimpleName()));
      }
    }
  }

  private static void validate(String path) {
    SignedDocumentValidator validator = SignedDocumentValidator.fromDocument(new FileDocument(new File(path)));
    validator.setCertificateVerifier(new CommonCertificateVerifier());
    Reports reports = validator.validateDocument();
    for (SignatureWrapper signature : reports.getDiagnosticData().getSignatures()) {
      boolean good = signature.isSignatureIntact() && signature.isSignatureValid();
      String indication = reports.getSimpleReport().getIndication(signature.getId()).name();
      System.out.println(String.join("\t", path, good ? "good" : "bad", indication));
    }
  }
}
