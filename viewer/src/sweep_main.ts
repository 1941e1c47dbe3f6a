import "./style.css";
