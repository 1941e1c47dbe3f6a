#include "heddle/support/failure_json.h"

#include "heddle/support/json_writer.h"

namespace heddle {

std::string failureJson(const Diagnostics& faults, int status) {
  JsonWriter json;
  json.beginObject().key("format").value("heddle.failure/1").key("status").value(status);
  json.key("faults").beginArray();
  for (const Diagnostic& fault : faults) {
    json.beginObject().key("code").value(fault.code).key("where").value(fault.where);
    json.key("summary").value(fault.summary).key("what").value(fault.what);
    json.key("mend").value(fault.mend).endObject();
  }
  json.endArray().endObject();
  return json.take() + "\n";
}

}  // namespace heddle
